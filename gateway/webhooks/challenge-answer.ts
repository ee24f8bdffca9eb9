/** Whether the answer to a test of an endpoint is proof. `tradetill verify` judges handlers by the same rule. Pure. */

const MOST_ANSWER_BYTES = 1_024

export const isAnswerFull = (bytes: number): boolean => bytes > MOST_ANSWER_BYTES

/** Returns the part of an answer's body that the till reads. */
export const readPartOf = (body: Buffer): string => body.subarray(0, MOST_ANSWER_BYTES).toString('utf8')

/**
 * True if the answer is only the challenge, as text or as a JSON text, or JSON with the challenge in a top-level field
 * `challenge`. A service that echoes requests returns it at a deeper level, so an echo does not count as proof.
 */
export function repeatsChallenge(body: string, challenge: string): boolean {
  const text = readPartOf(Buffer.from(body)).trim()
  if (text === challenge) return true
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer !== 'object' || answer === null) return answer === challenge
    return 'challenge' in answer && answer.challenge === challenge
  } catch {
    return false
  }
}
