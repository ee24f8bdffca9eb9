/** The checks that come first when a payout or an adjustment is recorded. */
import { type Refused, refused } from './operation.ts'

const MOST_REFERENCE_CHARACTERS = 128

type Movement = { noun: 'a payout' | 'an adjustment'; reference: string; amountMinor: bigint }

export function refuseMovement({ noun, reference, amountMinor }: Movement): Refused | undefined {
  if (reference.length < 1 || reference.length > MOST_REFERENCE_CHARACTERS) {
    const why = `it keeps ${noun} from being recorded twice`
    return refused('usage', `The reference must have 1 to ${MOST_REFERENCE_CHARACTERS} characters: ${why}.`)
  }
  return amountMinor <= 0n ? refused('usage', 'The amount must be above zero.') : undefined
}
