/**
 * Reads and writes the rows about sales in the till's database. Even if an answer is wrong, the vault gives
 * nothing that was not sold, and lists nothing below its own floor.
 */
import type { Money } from './market.ts'
import type { NumberedReport } from './record.ts'
import type { Unlisted } from './unlisted.ts'

export type Till = {
  /** The number of the last log entry whose reports the till has. */
  lastReported(): Promise<number>
  /** Writes reports of sales. Ignores those that the till already has. */
  report(reports: readonly NumberedReport[]): Promise<void>
  /** The till's credits for items, in US cents, by the asset ids that the items have in the account that sells them. */
  costs(appId: number, assetIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** True if an operator has switched the market off at the till. */
  isOff(market: string): Promise<boolean>
  /** Writes the money that a market shows for the vault's accounts there, as one sum. */
  reportBalance(market: string, money: Money, at: Date): Promise<void>
  /** Replaces what was reported about items that are not on sale. */
  reportUnlisted(rows: readonly Unlisted[], at: Date): Promise<void>
}
