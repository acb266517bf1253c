/* The commands: each parses its options, opens what it needs, calls the library, reports.
 * Only this folder prints to stderr and decides exit codes. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

enum cmd_exit { CMD_OK = 0, CMD_NO = 1, CMD_FAILED = 2 };

#define COMMAND(name, suffix, summary) int cmd_##suffix(int argc, char **argv);
#include "cmd/commands.def"
#undef COMMAND

#endif
