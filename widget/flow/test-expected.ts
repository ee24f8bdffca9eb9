/** The model of the random test of the flow. */
import type { Game } from '../../contract/games.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import { isPicking } from './selectors.ts'
import type { FlowState } from './state.ts'

/** The picks and the status that the page should show, as the test tracks them. */
export class Expected {
  /** Includes picks whose items the inventory lacks during a trade: they return when the items do. */
  picked: string[] = []
  /** The quote of the inventory with which the picks were last compared. */
  comparedQuote: string | null = null
  /** The picks in the other games. */
  elsewhere = new Map<Game, string[]>()
  /** The picks at the last press on Add funds. */
  paid: readonly string[] = []
  /** The quote of the newest inventory so far. */
  newestQuote = 0
  status: DepositStatus = 'created'

  follow(state: FlowState): void {
    if (state.page.stage !== 'wait-for-select-items') {
      this.picked = []
      this.elsewhere.clear()
      return
    }
    const { inventory } = state.page.stand
    if (inventory.status !== 'ready' || inventory.inventory.quoteId === this.comparedQuote) return
    this.comparedQuote = inventory.inventory.quoteId
    if (isPicking(state)) this.picked = this.picked.filter((id) => idsIn(inventory.inventory).has(id))
  }
}

export const idsIn = ({ items }: Inventory): Set<string> => new Set(items.map(({ id }) => id))
