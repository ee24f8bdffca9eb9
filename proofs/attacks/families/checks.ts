/** How cases describe the result of an attack. */
import type { LightMyRequestResponse } from 'fastify'

type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'body'>

/** Resolves to undefined if the call was answered with this status. */
export async function answered(call: Promise<Answer>, status: number): Promise<string | undefined> {
  const { statusCode, body } = await call
  return statusCode === status
    ? undefined
    : `answered ${statusCode} instead of ${status}: ${body.slice(0, 200)}`
}

/** Returns undefined unless the attack `succeeded`. */
export const never = (succeeded: boolean, what: string): string | undefined => (succeeded ? what : undefined)
