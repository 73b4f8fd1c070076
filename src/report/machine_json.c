#include "report/machine_json.h"

void machine_json(struct json *json, const struct machine_facts *facts)
{
	json_write_text(json, "cpu", facts->cpu);
	json_write_integer(json, "cpus", facts->cpus);
	json_write_text(json, "architecture", facts->architecture);
	json_write_text(json, "kernel", facts->kernel);
	json_write_text(json, "hostname", facts->hostname);
	json_write_text(json, "pmu", facts->pmu);
	json_write_text(json, "hypervisor", facts->hypervisor);
}
