/** The operator's commands as a process. They work on the database of a running gateway, or on DATABASE_URL. */
import { cacheCompiledCode } from '../kit/compile-cache.ts'

cacheCompiledCode()
const { runCommandLine } = await import('./run.ts')
const { createTerminal } = await import('./terminal.ts')
process.exitCode = await runCommandLine(process.argv.slice(2), { terminal: createTerminal(process) })
