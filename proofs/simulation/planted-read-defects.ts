/** Defects planted in what stores and operators read. The check of the reads must find each. */
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
  'the list of deposits omits reversals': defect({
    async listDeposits(db, storeId, asked) {
      const page = await listDeposits(db, storeId, asked)
      return { ...page, deposits: page.deposits.map((deposit) => ({ ...deposit, reversedAmount: 0 })) }
    },
  }),
  'each page of events is marked as the last one': defect({
    readEvents: async (db, storeId, query) => ({
      ...(await readEvents(db, storeId, query)),
      hasMore: false,
    }),
  }),
  'the next page of events skips one': defect({
    async readEvents(db, storeId, query) {
      const page = await readEvents(db, storeId, query)
      return { ...page, next: page.next + 1 }
    },
  }),
  'the statement omits releases': defect({
    async readStatement(db, storeId, query) {
      const page = await readStatement(db, storeId, query)
      return { ...page, movements: page.movements.filter(({ cause }) => cause !== 'released') }
    },
  }),
  'the statement counts held money as available': defect({
    async readStatement(db, storeId, query) {
      const page = await readStatement(db, storeId, query)
      const spendable = page.movements.map((each) =>
        each.cause === 'delivered' ? { ...each, held: 0, available: each.available + each.held } : each,
      )
      return { ...page, movements: spendable }
    },
  }),
  'a deposit’s history lacks its reversals': defect({
    async timelineOf(db, depositId) {
      const moments = await timelineOf(db, depositId)
      return moments?.filter(({ what }) => !/^ledger: .*, reversed$/.test(what))
    },
  }),
  'a deposit’s history is shown out of order': defect({
    async timelineOf(db, depositId) {
      const moments = await timelineOf(db, depositId)
      return moments?.toReversed()
    },
  }),
} as const satisfies Record<string, Reads>
