type Limits = {
  /** The most answers to remember. Before one more is added, all are forgotten. */
  texts: number
  /** The length of the longest text whose answer is remembered. */
  length: number
}

/** Remembers the answers of a pure function of a text. None may be undefined: that marks an unknown text. */
export function remember<T extends {}>(read: (text: string) => T, limits: Limits): (text: string) => T {
  const answers = new Map<string, T>()
  return (text) => {
    const known = answers.get(text)
    if (known !== undefined) return known
    const answer = read(text)
    if (text.length > limits.length) return answer
    if (answers.size >= limits.texts) answers.clear()
    answers.set(copyOf(text), answer)
    return answer
  }
}

/** Copies the text, because a slice of a longer one, such as a header, would keep the entire text in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')
