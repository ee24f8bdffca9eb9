/** The vault's calls about sales to the till's database. It trusts an answer only as far as that can do no harm. */
import type { Money } from './market.ts'
import type { News } from './record.ts'

export type Till = {
  /** The last entry of the log that it has. */
  lastTold(): Promise<number>
  tell(news: readonly News[]): Promise<void>
  /** The credits for items, in cents of a dollar, by the ids that the selling account knows them by. */
  costs(appId: number, assetIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** Whether an operator has switched the market off. */
  isOff(market: string): Promise<boolean>
  saysBalance(market: string, money: Money, at: Date): Promise<void>
}
