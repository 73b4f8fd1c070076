/* A plugin with regions: its names are its own memory, which dlclose(3) takes away. For region_life_test. */
#include <tare.h>

void plugin_work(void);

void plugin_work(void)
{
	static const char name[] = "of the plugin"; /* in its own pages */
	struct tare_region *region = tare_region(name, NULL);
	TARE_REGION_BEGIN("of the plugin, by macro");
	tare_region_begin(region);
	tare_region_end(region);
	TARE_REGION_END("of the plugin, by macro");
}
