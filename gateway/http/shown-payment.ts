/** The payment inside a page: the answer of GET /api/payment, under the same limits. */
import type { FastifyRequest } from 'fastify'
import type { Payment } from '../../contract/widget-api.ts'
import type { Misses } from './misses.ts'
import type { UnableReason } from './refusal.ts'

/** Undefined if there is no such deposit. */
export type PaymentReader = (hash: string) => Promise<Payment | undefined>

/** How long to wait for the database. After that, the page makes the call itself. */
const PATIENCE_MS = 300

type Options = { readPayment?: PaymentReader; unableReason?(): UnableReason | undefined; patienceMs?: number }

/**
 * A failure here never fails the page, which then asks for the payment itself. An unknown hash counts as a guess.
 */
export function shownPayment(
  { readPayment: read, unableReason, patienceMs = PATIENCE_MS }: Options,
  misses: Misses,
): (request: FastifyRequest, hash: string) => Promise<Payment | undefined> {
  return async (request, hash) => {
    if (read === undefined || unableReason?.() !== undefined) return undefined
    try {
      await misses.admit(request, 'deposit', hash)
      const payment = await readInTime(read(hash), patienceMs)
      if (payment !== null) return payment
      request.call.refusal = 'deposit_not_found'
      misses.count(request)
    } catch {
      // A guesser, or a database that is away or slow: the page's own call shows which.
    }
    return undefined
  }
}

/** Resolves to null if there is no such deposit. Rejects if the payment does not come in time. */
async function readInTime(
  reading: Promise<Payment | undefined>,
  patienceMs: number,
): Promise<Payment | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the payment came too late')), patienceMs)
  })
  try {
    return (await Promise.race([reading, late])) ?? null
  } finally {
    clearTimeout(timer)
  }
}
