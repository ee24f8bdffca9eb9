import type { DepositDeps } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

/** The dependencies of everything about trades, the sweeps and the requests of shoppers included. */
export type TradeDeps = DepositDeps & ShellDeps
