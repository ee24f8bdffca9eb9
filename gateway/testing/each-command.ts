/** Runs several commands of the operator in one process: a line for each argument. */
import { runCommandLine } from '../cli/run.ts'
import { createTerminal } from '../cli/terminal.ts'

for (const line of process.argv.slice(2)) {
  await runCommandLine(line.split(' '), { terminal: createTerminal(process) })
}
