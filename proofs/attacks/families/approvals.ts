/** Operators who try to move money alone, above the till's limit: family 55. */
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
const LIMIT_MINOR = 10_000n

type Defence =
  | 'a limit'
  | 'a daily limit'
  | 'another operator'
  | 'two operators for a command'
  | 'two operators to change the limit'

/** Adds a store whose balance no other case uses. */
async function addRichStore({ till }: Target): Promise<bigint> {
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

const proposalIdIn = (message = ''): string => /proposal (\d+)/.exec(message)?.[1] ?? '0'

let references = 0
const nextReference = () => `limit ${++references}`

type Payout = { storeId: bigint; amount: string; reference?: string }

const pay = (staff: Staff, who: Person, { storeId, amount, reference = nextReference() }: Payout) =>
  postAct(staff, who, {
    act: 'payout-record',
    input: { storeId: String(storeId), currency: 'USD', amount, reference },
  })

/** Adds the operators, and sets the limit above which two of them must agree. */
async function prepareStaff(target: Target): Promise<Staff> {
  const staff = await staffOf(target)
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
        const { status } = await postAct(staff, staff.ada, { act: 'store-debit', input })
        return problemIf(status === 200, 'is booked')
      },
    },
  ])

/** Amounts below the limit. Paid `times` times, their sum is above it. */
const PARTS = [
  { amount: '99.99', times: 2 },
  { amount: '50.01', times: 2 },
  { amount: '34.00', times: 3 },
  { amount: '21.00', times: 5 },
  { amount: '12.60', times: 8 },
]

const inParts = (target: Target, staff: Staff): Case<Defence>[] =>
  PARTS.map(({ amount, times }) => ({
    what: `${times} payouts of ${amount}, one after the other`,
    stoppedBy: 'a daily limit' as const,
    async attack() {
      const storeId = await addRichStore(target)
      for (let n = 0; n < times; n += 1) await pay(staff, staff.mallory, { storeId, amount })
      return problemIf((await sumPaid(target, storeId)) > LIMIT_MINOR, 'is paid in parts')
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
      ...approvedAlone(target, staff),
      ...byCommand(target, staff),
      ...changedLimits(staff),
    ]
  },
})
