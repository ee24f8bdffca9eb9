/** Runs several operator commands in one process, one per argument. */
import { runCommandLine } from '../cli/run.ts'
import { createTerminal } from '../cli/terminal.ts'

const terminal = createTerminal(process)
for (const line of process.argv.slice(2)) {
  await runCommandLine(line.split(' '), { terminal })
}
