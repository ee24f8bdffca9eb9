/** Operators who try to move money alone, above the till's limit: family 55. */
import type { Currency } from '../../../contract/money.ts'
import { recordPayout } from '../../../gateway/operations/payouts.ts'
import { changeApprovalLimit } from '../../../gateway/operations/proposals.ts'
import { type ConsoleAnswer, post } from '../../../gateway/testing/console.ts'
import { aStore } from '../../../gateway/testing/till.ts'
import { type Case, type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { problemIf } from './checks.ts'
import { type Person, type Staff, staffOf } from './staff.ts'

const ACT = 'gateway/operations/act.ts'
const PROPOSALS = 'gateway/operations/proposals.ts'
const STORE = 'gateway/operators/proposal-store.ts'
const LIMIT_MINOR = 10_000n

type Defence =
  | 'a limit'
  | 'a daily limit'
  | 'one act at a time'
  | 'another operator'
  | 'two operators for a command'
  | 'two operators to change the limit'

/** Adds a store whose balance no other case uses. */
async function addRichStore({ till }: Target, currency: Currency = 'USD'): Promise<bigint> {
  const { id } = await aStore(till)
  await till.deps.db
    .insertInto('account')
    .values({ store_id: id, kind: 'available', currency, balance: 5_000_000n, floor: 0n })
    .execute()
  return id
}

async function sumPaid({ till }: Target, storeId: bigint): Promise<bigint> {
  const row = await till.deps.db
    .selectFrom('payout')
    .select(({ fn }) => fn.sum<string>('amount').as('sum'))
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  return BigInt(row.sum ?? 0)
}

type ActCall = { act: string; input: object }

const postIn = (
  { till }: Staff,
  headers: Record<string, string>,
  { act, input }: ActCall,
): Promise<ConsoleAnswer> => post(till, `act/${act}`, { headers, body: { reason: 'wages', input } })

/** Signs the person in first. */
const postAct = async (staff: Staff, who: Person, call: ActCall): Promise<ConsoleAnswer> =>
  postIn(staff, await staff.newSession(who), call)

const proposalIdIn = (message = ''): string => /proposal (\d+)/.exec(message)?.[1] ?? '0'

let references = 0
const nextReference = () => `limit ${++references}`

type Payout = { storeId: bigint; amount: string; currency?: Currency; reference?: string }

const payoutCall = ({ storeId, amount, currency = 'USD', reference = nextReference() }: Payout): ActCall => ({
  act: 'payout-record',
  input: { storeId: String(storeId), currency, amount, reference },
})

const pay = (staff: Staff, who: Person, payout: Payout) => postAct(staff, who, payoutCall(payout))

/** Adds the operators, and sets the limit above which two of them must agree. */
async function prepareStaff(target: Target): Promise<Staff> {
  const staff = await staffOf(target)
  const rate = { per_usd: '1', source: 'attack', as_of: target.till.clock.now() }
  const rates = (['EUR', 'BRL'] as const).map((currency) => ({ ...rate, currency }))
  await target.till.db.insertInto('exchange_rate').values(rates).execute()
  await changeApprovalLimit(staff.till.by('host'), { aboveUsdMinor: LIMIT_MINOR })
  return staff
}

/** Amounts above the limit of 100.00. */
const ABOVE_LIMIT = ['100.01', '101.00', '1000.00', '9999.99', '49999.99']

const aboveLimit = (target: Target, staff: Staff): Case<Defence>[] =>
  ABOVE_LIMIT.flatMap((amount) => [
    {
      what: `a payout of ${amount}`,
      stoppedBy: 'a limit' as const,
      async attack() {
        const storeId = await addRichStore(target)
        await pay(staff, staff.ada, { storeId, amount })
        return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
      },
    },
    {
      what: `a payout of ${amount}, requested in five tabs`,
      stoppedBy: 'a limit' as const,
      async attack() {
        const storeId = await addRichStore(target)
        const reference = nextReference()
        await Promise.all(
          Array.from({ length: 5 }, () => pay(staff, staff.ada, { storeId, amount, reference })),
        )
        return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
      },
    },
    {
      what: `a debit of ${amount}`,
      stoppedBy: 'a limit' as const,
      async attack() {
        const storeId = await addRichStore(target)
        const input = { storeId: String(storeId), currency: 'USD', amount, reference: nextReference() }
        const { status, error } = await postAct(staff, staff.ada, { act: 'store-debit', input })
        return error?.kind === 'proposed' ? undefined : `is answered with ${status}, not proposed`
      },
    },
  ])

/** Amounts below the limit, each with a number of payouts that together exceed it. */
const PARTS = [
  { amount: '99.99', times: 2 },
  { amount: '50.01', times: 2 },
  { amount: '34.00', times: 3 },
  { amount: '21.00', times: 5 },
  { amount: '12.60', times: 8 },
]

/** The case needs an operator who has moved nothing yet: with any other, the limit would stop even the first part. */
const inParts = (target: Target, staff: Staff): Case<Defence>[] =>
  PARTS.map(({ amount, times }) => ({
    what: `${times} payouts of ${amount}, one after the other`,
    stoppedBy: 'a daily limit' as const,
    async attack() {
      const storeId = await addRichStore(target)
      const mover = await staff.hire(`patient ${nextReference()}`)
      for (let n = 0; n < times; n += 1) await pay(staff, mover, { storeId, amount })
      return judgeParts([await sumPaid(target, storeId)])
    },
  }))

function judgeParts(paid: readonly bigint[]): string | undefined {
  const sum = paid.reduce((total, each) => total + each, 0n)
  return sum === 0n ? 'not even one part is paid' : problemIf(sum > LIMIT_MINOR, 'is paid in parts')
}

/** The payouts of a case are in different currencies, because payouts in one currency wait for each other anyway. */
const AT_ONCE: readonly { amount: string; currencies: readonly Currency[] }[] = [
  { amount: '99.99', currencies: ['USD', 'EUR'] },
  { amount: '50.01', currencies: ['EUR', 'BRL'] },
  { amount: '100.00', currencies: ['BRL', 'USD'] },
  { amount: '34.00', currencies: ['USD', 'EUR', 'BRL'] },
  { amount: '60.00', currencies: ['BRL', 'EUR', 'USD'] },
  { amount: '50.01', currencies: ['USD', 'BRL', 'EUR'] },
  { amount: '75.00', currencies: ['EUR', 'USD'] },
  { amount: '99.99', currencies: ['EUR', 'USD', 'BRL'] },
]

const atOnce = (target: Target, staff: Staff): Case<Defence>[] =>
  AT_ONCE.map(({ amount, currencies }) => ({
    what: `payouts of ${amount} in ${currencies.join(', ')} at the same time`,
    stoppedBy: 'one act at a time' as const,
    async attack() {
      const mover = await staff.hire(`hasty ${nextReference()}`)
      const headers = await staff.newSession(mover)
      const payouts: Payout[] = []
      for (const currency of currencies)
        payouts.push({ storeId: await addRichStore(target, currency), currency, amount })
      await Promise.all(payouts.map((payout) => postIn(staff, headers, payoutCall(payout))))
      return judgeParts(await Promise.all(payouts.map(({ storeId }) => sumPaid(target, storeId))))
    },
  }))

const approvedAlone = (target: Target, staff: Staff): Case<Defence>[] =>
  ABOVE_LIMIT.map((amount) => ({
    what: `a payout of ${amount}, approved by its requester`,
    stoppedBy: 'another operator' as const,
    async attack() {
      const storeId = await addRichStore(target)
      const { error } = await pay(staff, staff.ada, { storeId, amount })
      await postAct(staff, staff.ada, {
        act: 'proposal-approve',
        input: { proposalId: proposalIdIn(error?.message) },
      })
      return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
    },
  }))

const byCommand = (target: Target, staff: Staff): Case<Defence>[] =>
  ['Ada', 'Grace', 'somebody'].map((name) => ({
    what: `a payout requested on the command line as ${name}, approved by one operator`,
    stoppedBy: 'two operators for a command' as const,
    async attack() {
      const storeId = await addRichStore(target)
      const payout = { storeId, currency: 'USD', amount: 20_000n, reference: nextReference() } as const
      const { message } = await recordPayout(staff.till.by(name), payout)
      await postAct(staff, staff.ada, {
        act: 'proposal-approve',
        input: { proposalId: proposalIdIn(message) },
      })
      return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
    },
  }))

const changedLimits = (staff: Staff): Case<Defence>[] =>
  [null, 99_999_999n, LIMIT_MINOR + 1n].map((aboveUsdMinor) => ({
    what: aboveUsdMinor === null ? 'the limit is removed' : `the limit becomes ${aboveUsdMinor} cents`,
    stoppedBy: 'two operators to change the limit' as const,
    async attack() {
      const { kind } = await changeApprovalLimit(staff.till.by('host'), { aboveUsdMinor })
      return problemIf(kind === 'done', 'one operator changed it')
    },
  }))

export const approvals: Family = family<Defence>({
  number: 55,
  name: 'money moved by one operator alone',
  kind: 'till',
  defences: {
    'a limit': {
      at: `${ACT} obstacleTo`,
      off: [
        {
          file: ACT,
          from: 'worthUsdCents !== undefined && (await mayMoveAlone(tx, deps, { worthUsdCents, limit }))',
          to: "moved !== 'all'",
        },
      ],
    },
    'a daily limit': {
      at: `${ACT} mayMoveAlone`,
      off: [{ file: ACT, from: 'worthUsdCents > limit - movedUsdCents', to: 'worthUsdCents > limit' }],
    },
    'one act at a time': {
      at: `${STORE} readMovedAlone`,
      // Transactions that share a lock do not wait for each other.
      off: [{ file: STORE, from: 'pg_advisory_xact_lock(', to: 'pg_advisory_xact_lock_shared(' }],
    },
    'another operator': {
      at: `${PROPOSALS} approveProposal`,
      off: [{ file: PROPOSALS, from: 'if (proposal.backedBy === operatorId)', to: 'if (false)' }],
    },
    'two operators for a command': {
      at: `${PROPOSALS} approveProposal`,
      off: [
        {
          file: PROPOSALS,
          from: 'if (proposal.backedBy === null) return back(deps, { proposalId, operatorId })',
          to: '',
        },
      ],
    },
    'two operators to change the limit': {
      at: `${PROPOSALS} changeApprovalLimit`,
      off: [
        {
          file: PROPOSALS,
          from: 'argumentsOf: () => ({ aboveUsdMinor }),\n    secondOperator,',
          to: 'argumentsOf: () => ({ aboveUsdMinor }),',
        },
      ],
    },
  },
  async honest(target) {
    const staff = await prepareStaff(target)
    const storeId = await addRichStore(target)
    await pay(staff, staff.ada, { storeId, amount: '100.00' })
    return problemIf(
      (await sumPaid(target, storeId)) !== LIMIT_MINOR,
      'a payout of exactly the limit is not recorded',
    )
  },
  async cases(target) {
    const staff = await prepareStaff(target)
    return [
      ...aboveLimit(target, staff),
      ...inParts(target, staff),
      ...atOnce(target, staff),
      ...approvedAlone(target, staff),
      ...byCommand(target, staff),
      ...changedLimits(staff),
    ]
  },
})
