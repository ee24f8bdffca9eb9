import type { ObservedCall } from '../http/app.ts'
import type { Log } from '../kit/log.ts'

/** Logs a store's call. Ignores calls that were not authenticated. */
export function logCall(log: Log, { request, route, status, seconds }: ObservedCall): void {
  const { store, depositId: deposit, refusal: code } = request.call
  if (store === undefined) return
  const { id: requestId, method } = request
  const about = { requestId, store: String(store.id), key: store.keyId, method, route, status }
  const ms = Math.round(seconds * 1000)
  const rest = { ...(code !== undefined && { code }), ...(deposit !== undefined && { deposit }), ms }
  log.info({ ...about, ...rest }, 'store called')
}
