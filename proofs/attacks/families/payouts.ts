/** Payouts of one store that operators record at the same moment: family 50. */
import { recordPayout } from '../../../gateway/ledger/payout.ts'
import { payFor } from '../../../gateway/testing/payment.ts'
import { aBot, aDeposit, aStore } from '../../../gateway/testing/till.ts'
import { type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { problemIf } from './checks.ts'

const LEDGER = 'gateway/ledger/store.ts'
/** The amount that `payFor` credits, in cents. */
const AVAILABLE = 3_000n
/** As many calls as the till has database connections. */
const AT_ONCE = 10

type PayoutRequest = { amount: bigint; reference: string }

/** The bot that collects the items of all stores of a target. */
const bots = new WeakMap<Target, ReturnType<typeof aBot>>()

/** Adds a store with one paid deposit. */
async function paidStore(target: Target): Promise<bigint> {
  const { till } = target
  const bot = bots.get(target) ?? aBot(till)
  bots.set(target, bot)
  const store = await aStore(till)
  await payFor(till, await bot, await aDeposit(till, store))
  return store.id
}

/** Resolves to undefined if every request is answered, and no more is paid out than was available. */
async function payAtOnce(target: Target, requests: readonly PayoutRequest[]): Promise<string | undefined> {
  const storeId = await paidStore(target)
  const { deps } = target.till
  const answers = await Promise.allSettled(
    requests.map((request) => recordPayout(deps, { storeId, currency: 'USD', ...request })),
  )
  const paid = await deps.db
    .selectFrom('payout')
    .select(({ fn }) => fn.sum<string>('amount').as('sum'))
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  const answered = answers.filter(({ status }) => status === 'fulfilled').length
  const sum = BigInt(paid.sum ?? 0)
  if (sum > AVAILABLE) return `${sum} of ${AVAILABLE} were paid out`
  return problemIf(
    answered < requests.length,
    `${requests.length - answered} of ${requests.length} requests failed`,
  )
}

const tenRequests = (request: (index: number) => PayoutRequest): PayoutRequest[] =>
  Array.from({ length: AT_ONCE }, (_, index) => request(index))

/** The requests that are made at once. Together they ask for more than is available, or repeat a reference. */
const CASES: Record<string, PayoutRequest[]> = {
  'the whole balance ten times': tenRequests((index) => ({ amount: AVAILABLE, reference: `wire ${index}` })),
  'two thirds ten times': tenRequests((index) => ({ amount: 2_000n, reference: `wire ${index}` })),
  'half and a cent ten times': tenRequests((index) => ({ amount: 1_501n, reference: `wire ${index}` })),
  'a third and a cent ten times': tenRequests((index) => ({ amount: 1_001n, reference: `wire ${index}` })),
  'growing amounts': tenRequests((index) => ({ amount: 1_600n + BigInt(index), reference: `wire ${index}` })),
  'one payout ten times': tenRequests(() => ({ amount: AVAILABLE, reference: 'wire' })),
  'a small payout ten times': tenRequests(() => ({ amount: 1n, reference: 'wire' })),
  'one reference with two amounts': tenRequests((index) => ({
    amount: 1_000n + BigInt(index % 2),
    reference: 'wire',
  })),
}

export const payouts: Family = family({
  number: 50,
  name: 'payouts of one store at the same moment',
  kind: 'till',
  defences: {
    'payouts of a store wait for each other': {
      at: `${LEDGER} lockAvailable`,
      off: [
        {
          file: LEDGER,
          from: '.forUpdate()\n    .executeTakeFirst()\n  return row?.balance ?? 0n',
          to: '.executeTakeFirst()\n  return row?.balance ?? 0n',
        },
      ],
    },
  },
  async honest(target) {
    const storeId = await paidStore(target)
    const payout = { storeId, currency: 'USD', amount: AVAILABLE, reference: 'wire' } as const
    const { kind } = await recordPayout(target.till.deps, payout)
    return problemIf(kind !== 'recorded', `a payout is ${kind}`)
  },
  cases: (target) =>
    Object.entries(CASES).map(([what, requests]) => ({
      what,
      stoppedBy: 'payouts of a store wait for each other' as const,
      attack: () => payAtOnce(target, requests),
    })),
})
