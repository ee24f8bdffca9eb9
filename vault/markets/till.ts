/** What the vault asks of the till's database about sales, and tells it. Nothing of it is believed beyond what it can only cost. */
import type { Money } from './market.ts'
import type { News } from './record.ts'

export type Till = {
  /** The last entry of the log that it was told. */
  lastTold(): Promise<number>
  tell(news: readonly News[]): Promise<void>
  /** What was credited for items, in cents of a dollar, by the ids that the selling account has them under. */
  costs(appId: number, assetIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** Whether an operator has switched the market off. */
  isOff(market: string): Promise<boolean>
  saysBalance(market: string, money: Money, at: Date): Promise<void>
}
