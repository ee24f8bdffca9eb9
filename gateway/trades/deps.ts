import type { DepositDeps } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

/** The dependencies of the sweeps over trades and deposits. */
export type TradeDeps = DepositDeps & ShellDeps
