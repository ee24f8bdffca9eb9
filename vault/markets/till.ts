/** The vault's calls about sales to the till's database. It relies on an answer only where a wrong one does no harm. */
import type { Money } from './market.ts'
import type { News } from './record.ts'

export type Till = {
  /** The number of the last log entry that the till has. */
  lastTold(): Promise<number>
  tell(news: readonly News[]): Promise<void>
  /** The credits for items, in US cents, by the asset ids of the selling account. */
  costs(appId: number, assetIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** Whether an operator has switched the market off. */
  isOff(market: string): Promise<boolean>
  saysBalance(market: string, money: Money, at: Date): Promise<void>
}
