#include "cli/words.h"

#include <string.h>

bool has_words(char *const *words, int n_words, const char *const *texts)
{
	for (int i = 0; i < n_words; i++) {
		bool found = false;
		for (const char *const *text = texts; *text && !found; text++)
			found = strcasestr(*text, words[i]) != NULL;
		if (!found)
			return false;
	}
	return true;
}
