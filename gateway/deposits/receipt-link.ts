/** A link that a shopper can show to support. Pure. */
import { isSameBytes } from '../kit/same-bytes.ts'
import { sha256 } from '../kit/sha256.ts'

/** The last part of the link. `proof`: shows that the till made the link for this deposit. */
export type ReceiptName = { depositId: string; proof: string }

const NAME = /^([1-9]\d{0,17})-([0-9a-f]{32})$/
const PROOF_DIGITS = 32

/** The deposit's hash has 128 secret bits, so it cannot be derived from the proof, and the proof cannot be guessed. */
const proofOf = (hash: string): string => sha256(`receipt ${hash}`).toString('hex').slice(0, PROOF_DIGITS)

export const receiptPath = (id: bigint, hash: string): string => `/receipt/${id}-${proofOf(hash)}`

export function readReceiptName(name: string): ReceiptName | undefined {
  const [, depositId, proof] = NAME.exec(name) ?? []
  return depositId === undefined || proof === undefined ? undefined : { depositId, proof }
}

/** Returns false if the till did not make this link for the deposit. */
export const isReceiptOf = ({ proof }: ReceiptName, hash: string): boolean =>
  isSameBytes(Buffer.from(proof), Buffer.from(proofOf(hash)))
