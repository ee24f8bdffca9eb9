/** The ledger of a simulated till, which checks every posting independently. */
import type { Movement } from '../../../gateway/ledger/entry.ts'
import { isStoreAccount } from '../../../gateway/ledger/entry.ts'
import { createTrace, type Trace } from '../trace.ts'
import { hold } from '../violation.ts'

type Account = { balance: bigint; credits: bigint; debits: bigint; floor: bigint | null }

type Entry = Movement & { store: number; tradeId: bigint; part: number; at: number }

export type Posting = {
  store: number
  tradeId: bigint
  part: number
  mayOwe: boolean
  movements: readonly Movement[]
  at: Date
}

export type Book = ReturnType<typeof createBook>

export function createBook() {
  const accounts = new Map<string, Account>()
  const entries: Entry[] = []
  const once = new Set<string>()
  const ofTrade = new Map<bigint, Entry[]>()
  const written: Trace = createTrace()
  let sum = 0n

  const accountOf = (store: number, kind: Movement['debit']): Account => {
    const key = isStoreAccount(kind) ? `${store}/${kind}` : kind
    const known = accounts.get(key)
    if (known !== undefined) return known
    const fresh: Account = { balance: 0n, credits: 0n, debits: 0n, floor: isStoreAccount(kind) ? 0n : null }
    accounts.set(key, fresh)
    return fresh
  }
  return {
    accountOf,
    entries: entries as readonly Entry[],
    /** Writes the movements of one cause. Each may be written only once. */
    post({ store, tradeId, part, mayOwe, movements, at }: Posting): void {
      if (mayOwe) accountOf(store, 'available').floor = null
      for (const movement of movements) {
        const { debit, credit, amount, cause } = movement
        const key = `${tradeId}/${cause}/${part}/${debit}/${credit}`
        hold(!once.has(key), 'I6', () => `posted twice: ${key}`)
        once.add(key)
        hold(amount > 0n && debit !== credit, 'I2', () => `${key} moves ${amount}`)
        const from = accountOf(store, debit)
        const to = accountOf(store, credit)
        from.balance -= amount
        from.debits += amount
        to.balance += amount
        to.credits += amount
        const entry = Object.freeze({ ...movement, store, tradeId, part, at: at.getTime() })
        entries.push(entry)
        ofTrade.set(tradeId, [...(ofTrade.get(tradeId) ?? []), entry])
        written.add(textOf(entry))
        check(from, debit)
        check(to, credit)
      }
      hold(sum === 0n, 'I1', () => `the accounts sum to ${sum}`)
    },
    /** The part of a trade that could be spent from its delivery. */
    early: (tradeId: bigint): bigint =>
      sumOf(ofTrade.get(tradeId), ({ cause, credit }) => cause === 'delivered' && credit === 'available'),
    /** The part of a trade that became spendable later. */
    released: (tradeId: bigint): bigint => sumOf(ofTrade.get(tradeId), ({ cause }) => cause === 'released'),
    /** The amount that reversals of a trade have taken beyond the held part, since `sinceMs`. */
    lostSince: (tradeId: bigint, sinceMs: number): bigint =>
      sumOf(
        ofTrade.get(tradeId),
        ({ cause, debit, at }) => cause === 'reversed' && debit !== 'held' && at > sinceMs,
      ),
    /** Recomputes all balances from the entries. */
    verify(): void {
      sum = 0n
      for (const account of accounts.values()) sum += account.balance
      hold(sum === 0n, 'I1', () => `the accounts sum to ${sum}`)
      const again = createTrace()
      for (const entry of entries) again.add(textOf(entry))
      hold(again.hash() === written.hash(), 'I5', () => 'an entry was changed after it had been written')
    },
  }
}

function sumOf(entries: readonly Entry[] | undefined, counts: (entry: Entry) => boolean): bigint {
  let sum = 0n
  for (const entry of entries ?? []) if (counts(entry)) sum += entry.amount
  return sum
}

function check(account: Account, kind: string): void {
  hold(account.balance === account.credits - account.debits, 'I3', () => `${kind} does not match its entries`)
  const isAbove = account.floor === null || account.balance >= account.floor
  hold(isAbove, 'I4', () => `${kind} fell to ${account.balance}`)
}

const textOf = ({ store, tradeId, part, debit, credit, amount, cause }: Entry): string =>
  `${store} ${tradeId} ${part} ${debit} ${credit} ${amount} ${cause}`
