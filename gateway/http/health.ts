/** Asks at most once a second, however often it is called; everybody gets the last answer. */
export function onceASecond(check: () => Promise<boolean>, nowMs: () => number): () => Promise<boolean> {
  let askedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<boolean> | undefined
  return () => {
    const now = nowMs()
    if (answer !== undefined && now - askedMs < 1_000) return answer
    askedMs = now
    answer = check()
    return answer
  }
}
