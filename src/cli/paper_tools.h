/* perfex and run_p5mon: tare under the papers' own names (a link to it), with their options. Each is a request of
 * `tare count` in other words. */
#ifndef TARE_CLI_PAPER_TOOLS_H
#define TARE_CLI_PAPER_TOOLS_H

/* argv as main() has it. False: argv[0] is neither. Else *code is what to exit with. */
bool paper_tool(int argc, char **argv, int *code);

#endif
