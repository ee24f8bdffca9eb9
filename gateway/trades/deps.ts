import type { DepositDeps } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

/** What everything about trades needs, the sweeps and the requests of shoppers included. */
export type TradeDeps = DepositDeps & ShellDeps
