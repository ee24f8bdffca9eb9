/** `payout …`. */
import { buildRouteMap } from '@stricli/core'
import type { Currency } from '../../../contract/money.ts'
import { amountIn, CURRENCY, STORE, text } from '../arguments.ts'
import { command, GRAVE_ACT, type GraveFlags } from '../command.ts'
import type { Session } from '../session.ts'

type Flags = GraveFlags & { store: bigint; currency: Currency; amount: string; reference: string }

const record = command({
  does: 'record that a store was paid out; the same reference is recorded once',
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
        brief: "the payment's own name: it keeps a payout from being recorded twice",
        placeholder: 'TEXT',
      },
      ...GRAVE_ACT,
    },
  },
  load: async () => {
    const { recordPayout } = await import('../../operations/payouts.ts')
    return async (session: Session, flags: Flags) => {
      const { store: storeId, currency, reference } = flags
      const amount = amountIn(currency, flags.amount)
      return recordPayout(await session.act(flags), { storeId, currency, amount, reference })
    }
  },
})

export const payout = buildRouteMap({ routes: { record }, docs: { brief: 'what was paid to stores' } })
