/**
 * The vault's queries about sales to the till's database. The vault relies only on answers that do no harm if they are
 * wrong.
 */
import type { Money } from './market.ts'
import type { News } from './record.ts'

export type Till = {
  /** The number of the last log entry that the till has. */
  lastTold(): Promise<number>
  tell(news: readonly News[]): Promise<void>
  /** The credits for items, in US cents, by the asset ids of the selling account. */
  costs(appId: number, assetIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** True if an operator has switched the market off. */
  isOff(market: string): Promise<boolean>
  saysBalance(market: string, money: Money, at: Date): Promise<void>
}
