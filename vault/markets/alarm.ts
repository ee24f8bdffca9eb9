/** Facts about a market that the operator must learn. */

export type Alarm =
  /** The market asks for items in a deal that the client cannot read, so nothing is given. */
  | { kind: 'unread_deal'; dealId: string }
  /**
   * The vault does not give what the market asked for. `problem`: a `DueProblem`, or what went wrong with the offer.
   * With `changed`, the deal had asked for something else before, and the vault may still give that.
   */
  | { kind: 'due_refused'; dealId: string; problem: string }
  /** The market shows a listing that the vault did not make. */
  | { kind: 'strange_listing'; itemId: string }
  /** The market answered with a number that another live listing has. The vault does not record the number. */
  | { kind: 'repeated_number'; itemId: string }
  /** For a minute, the market has shown a listing at a price that the vault did not set. The vault takes it down. */
  | { kind: 'other_price'; itemId: string }
  /** The market claims to pay more than the price. The seller does not believe it, and asks again. */
  | { kind: 'too_much'; itemId: string }
  /**
   * The market says something else about a sale that it had paid or reversed. `problem`: its earlier report, which
   * stays in the books, and the new one.
   */
  | { kind: 'sale_changed'; itemId: string; problem: string }
  /** The vault's limits have no room. The seller tries again while the buyer waits. */
  | { kind: 'no_room'; dealId: string }

export function alarmLine(alarm: Alarm): [line: string, about: Record<string, string>] {
  switch (alarm.kind) {
    case 'unread_deal':
      return ['the market asked for items in a way that the vault cannot read', { deal: alarm.dealId }]
    case 'due_refused':
      return [
        alarm.problem === 'changed'
          ? 'the market changed a deal, and the vault keeps to the first version'
          : 'the vault gave nothing for a sale',
        { deal: alarm.dealId, problem: alarm.problem },
      ]
    case 'strange_listing':
      return ['the market showed a listing that the vault did not make', { listing: alarm.itemId }]
    case 'repeated_number':
      return ['the market gave a listing the number of another one', { listing: alarm.itemId }]
    case 'other_price':
      return ['the market showed a listing at a price that the vault did not set', { listing: alarm.itemId }]
    case 'too_much':
      return ['the market claimed to pay more than the price', { listing: alarm.itemId }]
    case 'sale_changed':
      return [
        'the market changed what it had said about a finished sale',
        { listing: alarm.itemId, problem: alarm.problem },
      ]
    case 'no_room':
      return ['the limits had no room for a sale', { deal: alarm.dealId }]
    default:
      return alarm satisfies never
  }
}

/** The subject of the alarm, in addition to the market. The limits concern all deals alike. */
export const alarmAbout = (alarm: Alarm): string =>
  alarm.kind === 'no_room' ? '' : 'dealId' in alarm ? ` deal ${alarm.dealId}` : ` listing ${alarm.itemId}`
