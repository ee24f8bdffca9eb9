/** A line of the log for each call of a store: what a store quotes, and what the operator follows a deposit by. */
import type { ObservedCall } from '../http/app.ts'
import type { Log } from '../kit/log.ts'
import { depositOfAny, storeOfAny } from './operation.ts'

/** Calls that did not prove themselves have no store to be told of. */
export function logCall(log: Log, { request, route, status, code, seconds }: ObservedCall): void {
  const store = storeOfAny(request)
  if (store === undefined) return
  const { id: requestId, method } = request
  const deposit = depositOfAny(request)
  const about = { requestId, store: String(store.id), key: store.keyId, method, route, status }
  const ms = Math.round(seconds * 1000)
  const rest = { ...(code !== undefined && { code }), ...(deposit !== undefined && { deposit }), ms }
  log.info({ ...about, ...rest }, 'a store called')
}
