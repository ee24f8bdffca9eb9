/** The model of the random test of the flow. */
import type { Game } from '../../contract/games.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import { isPicking } from './selectors.ts'
import type { FlowState, Stand } from './state.ts'

/** The picks and the status that the page should show, as the test tracks them. */
export class Expected {
  /** Includes picks whose items the inventory lacks during a trade: they return when the items do. */
  picked: string[] = []
  /** The account of the picks, as its link without a token; null before the first stand. */
  account: string | null = null
  /** The account's picks when picking was last possible. A link of the same account brings them back. */
  kept: { picked: string[]; elsewhere: Map<Game, string[]> } = { picked: [], elsewhere: new Map() }
  isStandClosed = false
  /** The quote of the inventory with which the picks were last compared. */
  comparedQuote: string | null = null
  /** The picks in the other games. */
  elsewhere = new Map<Game, string[]>()
  /** The picks at the last press on Add funds. */
  pressedWith: readonly string[] = []
  /** The quote of the newest inventory so far. */
  newestQuote = 0
  status: DepositStatus = 'created'

  follow(state: FlowState): void {
    const { page } = state
    const wasClosed = this.isStandClosed
    this.isStandClosed = page.stage !== 'wait-for-select-items'
    if (page.stage !== 'wait-for-select-items') return
    this.followAccount(page.stand, wasClosed)
    this.followInventory(state, page.stand)
    if (isPicking(state)) this.kept = { picked: this.picked, elsewhere: new Map(this.elsewhere) }
  }

  private followAccount({ user }: Stand, wasClosed: boolean): void {
    if (user.tradeUrl !== this.account) this.kept = { picked: [], elsewhere: new Map() }
    else if (!wasClosed) return
    this.account = user.tradeUrl
    this.picked = this.kept.picked
    this.elsewhere = new Map(this.kept.elsewhere)
  }

  private followInventory(state: FlowState, { inventory }: Stand): void {
    if (inventory.status !== 'ready' || inventory.inventory.quoteId === this.comparedQuote) return
    this.comparedQuote = inventory.inventory.quoteId
    if (isPicking(state)) this.picked = this.picked.filter((id) => idsIn(inventory.inventory).has(id))
  }
}

export const idsIn = ({ items }: Inventory): Set<string> => new Set(items.map(({ id }) => id))
