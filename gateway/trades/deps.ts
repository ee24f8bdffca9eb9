import type { DepositDeps } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

/** The dependencies of all work on trades, including the sweeps and the shoppers' requests. */
export type TradeDeps = DepositDeps & ShellDeps
