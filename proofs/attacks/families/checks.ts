/** How cases say what came of an attack. */
import type { LightMyRequestResponse } from 'fastify'

type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'body'>

/** Undefined when the call was answered with this status. */
export async function answered(call: Promise<Answer>, status: number): Promise<string | undefined> {
  const { statusCode, body } = await call
  return statusCode === status
    ? undefined
    : `answered ${statusCode} instead of ${status}: ${body.slice(0, 200)}`
}

/** Undefined when nothing of this came. */
export const never = (came: boolean, what: string): string | undefined => (came ? what : undefined)
