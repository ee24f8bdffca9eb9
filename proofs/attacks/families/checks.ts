/** Describes what an attack achieved; undefined if it failed. */
import type { LightMyRequestResponse } from 'fastify'

type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'body'>

/** Resolves to undefined if the call was answered with this status. */
export async function mustReply(call: Promise<Answer>, status: number): Promise<string | undefined> {
  const { statusCode, body } = await call
  return statusCode === status
    ? undefined
    : `answered ${statusCode} instead of ${status}: ${body.slice(0, 200)}`
}

export const problemIf = (succeeded: boolean, text: string): string | undefined =>
  succeeded ? text : undefined
