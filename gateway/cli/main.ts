/**
 * Entry point of the operator's commands and of `serve`. Commands use DATABASE_URL, or the database of a running
 * gateway.
 */
import { cacheCompiledCode } from '../kit/compile-cache.ts'
import { connectPatiently } from '../kit/connect-patiently.ts'

cacheCompiledCode()
connectPatiently()
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
