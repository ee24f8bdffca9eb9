/** `npm run verify-ledger`: recomputes the ledger of a running gateway, or of DATABASE_URL. Exit code 1: differences. */
import { keepCompiled } from '../kit/compiled.ts'

keepCompiled()
const { checkLedger } = await import('./ledger.ts')
const { createTerminal } = await import('./terminal.ts')
process.exitCode = await checkLedger({ terminal: createTerminal(process) })
