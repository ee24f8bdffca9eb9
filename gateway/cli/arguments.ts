/** Arguments as they are typed, made into what the commands take. */
import { Refusal } from './terminal.ts'

const ID = /^[1-9]\d{0,17}$/

export function idOf(text: string | undefined, what: string): bigint {
  if (text === undefined || !ID.test(text)) throw new Refusal(`${what} must be a number`)
  return BigInt(text)
}

export function oneOf<T extends string>(text: string, known: readonly T[], option: string): T {
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Refusal(`${option} must be one of ${known.join(', ')}`)
  return found
}
