/** Operators who try to move money alone, above the till's limit: family 55. */
import { recordPayout } from '../../../gateway/operations/payouts.ts'
import { limitAct } from '../../../gateway/operations/proposals.ts'
import { type ConsoleAnswer, post } from '../../../gateway/testing/console.ts'
import { aStore } from '../../../gateway/testing/till.ts'
import { type Case, type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { problemIf } from './checks.ts'
import { type Person, type Staff, staffOf } from './staff.ts'

const ACT = 'gateway/operations/act.ts'
const PROPOSALS = 'gateway/operations/proposals.ts'
const LIMIT_MINOR = 10_000n

type Defence =
  | 'a limit'
  | 'a daily limit'
  | 'another operator'
  | 'two operators for a command'
  | 'two operators to change the limit'

/** Adds a store whose balance no other case uses. */
async function richStore({ till }: Target): Promise<bigint> {
  const { id } = await aStore(till)
  await till.deps.db
    .insertInto('account')
    .values({ store_id: id, kind: 'available', currency: 'USD', balance: 5_000_000n, floor: 0n })
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

async function postAct(
  { till, newSession }: Staff,
  who: Person,
  { act, input }: ActCall,
): Promise<ConsoleAnswer> {
  return post(till, `act/${act}`, { headers: await newSession(who), body: { reason: 'wages', input } })
}

const proposalIn = (message = ''): string => /proposal (\d+)/.exec(message)?.[1] ?? '0'

let references = 0
const nextReference = () => `limit ${++references}`

type Paying = { storeId: bigint; amount: string; reference?: string }

const pay = (staff: Staff, who: Person, { storeId, amount, reference = nextReference() }: Paying) =>
  postAct(staff, who, {
    act: 'payout-record',
    input: { storeId: String(storeId), currency: 'USD', amount, reference },
  })

/** Sets the limit, and adds the operators. */
async function withLimit(target: Target): Promise<Staff> {
  const staff = await staffOf(target)
  await limitAct(staff.till.by('host'), { aboveUsdMinor: LIMIT_MINOR })
  return staff
}

const AMOUNTS = ['100.01', '101.00', '1000.00', '9999.99', '49999.99']

const above = (target: Target, staff: Staff): Case<Defence>[] =>
  AMOUNTS.flatMap((amount) => [
    {
      what: `a payout of ${amount}`,
      by: 'a limit' as const,
      async attack() {
        const storeId = await richStore(target)
        await pay(staff, staff.ada, { storeId, amount })
        return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
      },
    },
    {
      what: `a payout of ${amount}, requested in five tabs`,
      by: 'a limit' as const,
      async attack() {
        const storeId = await richStore(target)
        const reference = nextReference()
        await Promise.all(
          Array.from({ length: 5 }, () => pay(staff, staff.ada, { storeId, amount, reference })),
        )
        return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
      },
    },
    {
      what: `a debit of ${amount}`,
      by: 'a limit' as const,
      async attack() {
        const storeId = await richStore(target)
        const input = { storeId: String(storeId), currency: 'USD', amount, reference: nextReference() }
        const { status } = await postAct(staff, staff.ada, { act: 'store-debit', input })
        return problemIf(status === 200, 'is booked')
      },
    },
  ])

/** Amounts below the limit. Paid `times` times, their sum is above it. */
const SMALL = [
  { amount: '99.99', times: 2 },
  { amount: '50.01', times: 2 },
  { amount: '34.00', times: 3 },
  { amount: '21.00', times: 5 },
  { amount: '12.60', times: 8 },
]

const inParts = (target: Target, staff: Staff): Case<Defence>[] =>
  SMALL.map(({ amount, times }) => ({
    what: `${times} payouts of ${amount}, one after the other`,
    by: 'a daily limit' as const,
    async attack() {
      const storeId = await richStore(target)
      for (let n = 0; n < times; n += 1) await pay(staff, staff.mallory, { storeId, amount })
      return problemIf((await sumPaid(target, storeId)) > LIMIT_MINOR, 'is paid in parts')
    },
  }))

const alone = (target: Target, staff: Staff): Case<Defence>[] =>
  AMOUNTS.map((amount) => ({
    what: `a payout of ${amount}, approved by its requester`,
    by: 'another operator' as const,
    async attack() {
      const storeId = await richStore(target)
      const { error } = await pay(staff, staff.ada, { storeId, amount })
      await postAct(staff, staff.ada, {
        act: 'proposal-approve',
        input: { proposalId: proposalIn(error?.message) },
      })
      return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
    },
  }))

const byCommand = (target: Target, staff: Staff): Case<Defence>[] =>
  ['Ada', 'Grace', 'somebody'].map((name) => ({
    what: `a payout requested on the command line as ${name}, approved by one operator`,
    by: 'two operators for a command' as const,
    async attack() {
      const storeId = await richStore(target)
      const payout = { storeId, currency: 'USD', amount: 20_000n, reference: nextReference() } as const
      const { message } = await recordPayout(staff.till.by(name), payout)
      await postAct(staff, staff.ada, { act: 'proposal-approve', input: { proposalId: proposalIn(message) } })
      return problemIf((await sumPaid(target, storeId)) > 0n, 'is paid')
    },
  }))

/** New limits: none, the highest possible one, and one cent more. */
const raised = (staff: Staff): Case<Defence>[] =>
  [null, 99_999_999n, LIMIT_MINOR + 1n].map((aboveUsdMinor) => ({
    what: `the limit becomes ${aboveUsdMinor ?? 'none'}`,
    by: 'two operators to change the limit' as const,
    async attack() {
      const { kind } = await limitAct(staff.till.by('host'), { aboveUsdMinor })
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
          from: 'worth !== undefined && (await mayMoveAlone(tx, deps, { worth, limit }))',
          to: "moved !== 'all'",
        },
      ],
    },
    'a daily limit': {
      at: `${ACT} mayMoveAlone`,
      off: [{ file: ACT, from: 'worth > limit - before', to: 'worth > limit' }],
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
      at: `${PROPOSALS} limitAct`,
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
    const staff = await withLimit(target)
    const storeId = await richStore(target)
    await pay(staff, staff.ada, { storeId, amount: '100.00' })
    return problemIf(
      (await sumPaid(target, storeId)) !== LIMIT_MINOR,
      'a payout below the limit is not recorded',
    )
  },
  async cases(target) {
    const staff = await withLimit(target)
    return [
      ...above(target, staff),
      ...inParts(target, staff),
      ...alone(target, staff),
      ...byCommand(target, staff),
      ...raised(staff),
    ]
  },
})
