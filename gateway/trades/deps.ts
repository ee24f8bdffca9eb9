import type { DepositDeps } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

export type TradeDeps = DepositDeps & ShellDeps
