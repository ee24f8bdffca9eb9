/**
 * The doctor's proof that it has the master key. A caller with the proof can read its own address and protocol
 * as the gateway sees them. The proof is valid for a minute.
 */
import { createHmac } from 'node:crypto'
import { isSameBytes } from './same-bytes.ts'

export const DOCTOR_HEADER = 'x-tradetill-doctor'

const VALID_MS = 60_000
const SIGNED_PREFIX = 'tradetill doctor 1'

const signatureOf = (masterKey: Buffer, at: string): string =>
  createHmac('sha256', masterKey).update(`${SIGNED_PREFIX} ${at}`).digest('hex')

export function doctorProof(masterKey: Buffer, now: Date): string {
  const at = String(now.getTime())
  return `${at}.${signatureOf(masterKey, at)}`
}

export function isDoctorProof(masterKey: Buffer, proof: unknown, now: Date): boolean {
  const [, at = '', signature = ''] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(String(proof)) ?? []
  if (at === '' || Math.abs(now.getTime() - Number(at)) > VALID_MS) return false
  return isSameBytes(Buffer.from(signature), Buffer.from(signatureOf(masterKey, at)))
}
