/** The operator's commands as a process, and `serve`: the gateway. They work on the database of a running gateway, or on DATABASE_URL. */
import { cacheCompiledCode } from '../kit/compile-cache.ts'

cacheCompiledCode()
const args = process.argv.slice(2)
if (args.join(' ') === 'serve') {
  await import('../main.ts')
} else {
  const [{ runCommandLine }, { createTerminal }] = await Promise.all([
    import('./run.ts'),
    import('./terminal.ts'),
  ])
  process.exitCode = await runCommandLine(args, { terminal: createTerminal(process) })
}
