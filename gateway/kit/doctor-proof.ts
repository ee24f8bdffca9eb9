/**
 * The doctor's proof that it has the master key. For a minute, a call with it can read how the gateway sees its caller.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const DOCTOR_HEADER = 'x-tradetill-doctor'

const GOOD_FOR_MS = 60_000
const TEXT = 'tradetill doctor 1'

const signatureOf = (masterKey: Buffer, at: string): string =>
  createHmac('sha256', masterKey).update(`${TEXT} ${at}`).digest('hex')

export function doctorProof(masterKey: Buffer, now: Date): string {
  const at = String(now.getTime())
  return `${at}.${signatureOf(masterKey, at)}`
}

export function isDoctorProof(masterKey: Buffer, proof: unknown, now: Date): boolean {
  const [, at = '', signature = ''] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(String(proof)) ?? []
  if (at === '' || Math.abs(now.getTime() - Number(at)) > GOOD_FOR_MS) return false
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(masterKey, at)))
}
