/** The date on which an account joined Steam. Level 0 stands for a new account, such as an impostor's. Pure. */
import type { Account } from './world.ts'

/** Steam numbers accounts in order, so an account's number gives its year approximately. */
const ACCOUNTS_A_YEAR = 75_000_000
const FIRST_YEAR = 2003
const LAST_YEAR = 2025
const DAYS_A_YEAR = 365

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns the date as Steam writes it, such as `March 9, 2015`; undefined for a new account. */
export function memberSince({ accountId, level }: Pick<Account, 'accountId' | 'level'>): string | undefined {
  if (level === 0) return undefined
  const year = Math.min(LAST_YEAR, FIRST_YEAR + Math.floor(accountId / ACCOUNTS_A_YEAR))
  return DAY.format(Date.UTC(year, 0, 1 + (accountId % DAYS_A_YEAR)))
}
