/* A table-driven CRC: loads, shifts, one tight loop. */
#include <stdint.h>
int main(void)
{
	static uint32_t table[256];
	uint32_t crc = ~0u;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	for (int i = 0; i < 2000; i++)
		crc = table[(crc ^ (uint32_t)i) & 255] ^ crc >> 8;
	return crc == 0;
}
