/** Known defects of what stores and operators read, put in by hand: the check of the reads must find each. */
import { READS, type Reads } from './real/reads.ts'

const { listDeposits, readEvents, readStatement, timelineOf } = READS

const defect = (change: Partial<Reads>): Reads => ({ ...READS, ...change })

export const READ_DEFECTS = {
  'the list of deposits repeats one on the next page': defect({
    async listDeposits(db, storeId, asked) {
      const page = await listDeposits(db, storeId, asked)
      return { ...page, next: page.next && (page.deposits.at(-2)?.id ?? null) }
    },
  }),
  'the list of deposits forgets what was reversed': defect({
    async listDeposits(db, storeId, asked) {
      const page = await listDeposits(db, storeId, asked)
      return { ...page, deposits: page.deposits.map((deposit) => ({ ...deposit, reversedAmount: 0 })) }
    },
  }),
  'a page of events ends the log': defect({
    readEvents: async (db, storeId, query) => ({
      ...(await readEvents(db, storeId, query)),
      hasMore: false,
    }),
  }),
  'the next page of events leaves one out': defect({
    async readEvents(db, storeId, query) {
      const page = await readEvents(db, storeId, query)
      return { ...page, next: page.next + 1 }
    },
  }),
  'the statement leaves releases out': defect({
    async readStatement(db, storeId, query) {
      const page = await readStatement(db, storeId, query)
      return { ...page, movements: page.movements.filter(({ cause }) => cause !== 'released') }
    },
  }),
  'the statement takes a hold for available': defect({
    async readStatement(db, storeId, query) {
      const page = await readStatement(db, storeId, query)
      const spendable = page.movements.map((each) =>
        each.cause === 'delivered' ? { ...each, held: 0, available: each.available + each.held } : each,
      )
      return { ...page, movements: spendable }
    },
  }),
  'a deposit is shown without its reversals': defect({
    async timelineOf(db, depositId) {
      const moments = await timelineOf(db, depositId)
      return moments?.filter(({ what }) => !/^ledger: .*, reversed$/.test(what))
    },
  }),
  'a deposit is shown in no order': defect({
    async timelineOf(db, depositId) {
      const moments = await timelineOf(db, depositId)
      return moments?.toReversed()
    },
  }),
} as const satisfies Record<string, Reads>
