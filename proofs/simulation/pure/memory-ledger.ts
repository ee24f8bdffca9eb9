/** The ledger of a simulated till. It checks every posting. */
import type { Movement } from '../../../gateway/ledger/entry.ts'
import { isStoreAccount } from '../../../gateway/ledger/entry.ts'
import { createTrace, type Trace } from '../trace.ts'
import { must } from '../violation.ts'

type Account = { balance: bigint; credits: bigint; debits: bigint; floor: bigint | null }

type Entry = Movement & { store: number; tradeId: bigint; part: number; at: number }

export type Posting = {
  store: number
  tradeId: bigint
  /** How many reversals of the trade came before this one; 0 for a posting that is not a reversal. */
  part: number
  mayOwe: boolean
  movements: readonly Movement[]
  at: Date
}

export type MemoryLedger = ReturnType<typeof createMemoryLedger>

export function createMemoryLedger() {
  const accounts = new Map<string, Account>()
  const entries: Entry[] = []
  const posted = new Set<string>()
  const entriesByTrade = new Map<bigint, Entry[]>()
  const trace: Trace = createTrace()

  const accountOf = (store: number, kind: Movement['debit']): Account => {
    const key = isStoreAccount(kind) ? `${store}/${kind}` : kind
    const known = accounts.get(key)
    if (known !== undefined) return known
    const added: Account = { balance: 0n, credits: 0n, debits: 0n, floor: isStoreAccount(kind) ? 0n : null }
    accounts.set(key, added)
    return added
  }
  return {
    accountOf,
    entries: entries as readonly Entry[],
    /** Writes the movements of a posting. Each may be written only once. */
    post({ store, tradeId, part, mayOwe, movements, at }: Posting): void {
      // After a posting that is allowed to leave a debt, the store's balance can stay below zero.
      if (mayOwe) accountOf(store, 'available').floor = null
      for (const movement of movements) {
        const { debit, credit, amount, cause } = movement
        const key = `${tradeId}/${cause}/${part}/${debit}/${credit}`
        must(!posted.has(key), 'I6', () => `posted twice: ${key}`)
        posted.add(key)
        must(amount > 0n && debit !== credit, 'I2', () => `${key} moves ${amount}`)
        const from = accountOf(store, debit)
        const to = accountOf(store, credit)
        from.balance -= amount
        from.debits += amount
        to.balance += amount
        to.credits += amount
        const entry = Object.freeze({ ...movement, store, tradeId, part, at: at.getTime() })
        entries.push(entry)
        entriesByTrade.set(tradeId, [...(entriesByTrade.get(tradeId) ?? []), entry])
        trace.add(textOf(entry))
        check(from, debit)
        check(to, credit)
      }
    },
    /** The amount of a trade that could be spent as soon as it was delivered. */
    spendableAtOnce: (tradeId: bigint): bigint =>
      sumOf(
        entriesByTrade.get(tradeId),
        ({ cause, credit }) => cause === 'delivered' && credit === 'available',
      ),
    /** The amount of a trade that became spendable later. */
    released: (tradeId: bigint): bigint =>
      sumOf(entriesByTrade.get(tradeId), ({ cause }) => cause === 'released'),
    /** The amount that reversals of a trade have taken beyond the held part, since `sinceMs`. */
    lostSince: (tradeId: bigint, sinceMs: number): bigint =>
      sumOf(
        entriesByTrade.get(tradeId),
        ({ cause, debit, at }) => cause === 'reversed' && debit !== 'held' && at > sinceMs,
      ),
    /** Checks that all balances sum to zero, and that no entry has changed since it was written. */
    verify(): void {
      let sum = 0n
      for (const account of accounts.values()) sum += account.balance
      must(sum === 0n, 'I1', () => `the accounts sum to ${sum}`)
      const retraced = createTrace()
      for (const entry of entries) retraced.add(textOf(entry))
      must(retraced.hash() === trace.hash(), 'I5', () => 'an entry was changed after it had been written')
    },
  }
}

function sumOf(entries: readonly Entry[] | undefined, isCounted: (entry: Entry) => boolean): bigint {
  let sum = 0n
  for (const entry of entries ?? []) if (isCounted(entry)) sum += entry.amount
  return sum
}

function check(account: Account, kind: string): void {
  must(account.balance === account.credits - account.debits, 'I3', () => `${kind} does not match its entries`)
  const isAbove = account.floor === null || account.balance >= account.floor
  must(isAbove, 'I4', () => `${kind} fell to ${account.balance}`)
}

const textOf = ({ store, tradeId, part, debit, credit, amount, cause }: Entry): string =>
  `${store} ${tradeId} ${part} ${debit} ${credit} ${amount} ${cause}`
