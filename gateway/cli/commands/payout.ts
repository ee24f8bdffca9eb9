/** `payout …`: lists, records and voids payouts. */
import { buildRouteMap } from '@stricli/core'
import type { Currency } from '../../../contract/money.ts'
import { amountIn, CURRENCY, id, limitUpTo, pageBefore, STORE, text } from '../arguments.ts'
import { command, FIND, type FindFlags, SERIOUS_ACT, type SeriousFlags } from '../command.ts'
import type { Session } from '../session.ts'
import { payoutLines } from '../store-lines.ts'

type Flags = SeriousFlags & { store: bigint; currency: Currency; amount: string; reference: string }

const record = command({
  does: 'record a payout to a store; each reference is recorded only once',
  example:
    "payout record --store 1 --currency USD --amount 1250.00 --reference 'wire 77' --reason 'payout of November'",
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed' },
      currency: CURRENCY,
      amount: {
        kind: 'parsed',
        parse: text,
        brief: 'with its decimals, such as 1250.00',
        placeholder: 'AMOUNT',
      },
      reference: {
        kind: 'parsed',
        parse: text,
        brief: "the payment's reference, which keeps a payout from being recorded twice",
        placeholder: 'TEXT',
      },
      ...SERIOUS_ACT,
    },
  },
  load: async () => {
    const { recordPayout } = await import('../../operations/payouts.ts')
    return async (session: Session, flags: Flags) => {
      const { store: storeId, currency, reference } = flags
      const amount = amountIn(currency, flags.amount)
      return recordPayout(await session.actDeps(flags), { storeId, currency, amount, reference })
    }
  },
})

const MOST_LISTED = 500

type ListFlags = FindFlags & { store?: bigint; before?: bigint; limit: number }

const list = command({
  does: 'list the payouts to stores, newest first',
  example: 'payout list --store 1',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed', optional: true },
      before: pageBefore('PAYOUT'),
      limit: limitUpTo(MOST_LISTED),
      ...FIND,
    },
  },
  load: async () => {
    const { listPayouts } = await import('../../operations/payouts.ts')
    return async (session: Session, { store: storeId, before, limit }: ListFlags) =>
      listPayouts(await session.findDeps(), { storeId, before, limit })
  },
  lines: payoutLines,
})

const voidOne = command({
  does: 'void a payout that was never made; its amount is available to the store again',
  example: "payout void 7 --reason 'the wire was never sent'",
  parameters: {
    flags: SERIOUS_ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: id, brief: 'its number: see payout list', placeholder: 'PAYOUT' }],
    },
  },
  load: async () => {
    const { voidPayout } = await import('../../operations/payouts.ts')
    return async (session: Session, flags: SeriousFlags, payoutId: bigint) =>
      voidPayout(await session.actDeps(flags), payoutId)
  },
})

export const payout = buildRouteMap({
  routes: { list, record, void: voidOne },
  docs: { brief: 'payouts to stores' },
})
