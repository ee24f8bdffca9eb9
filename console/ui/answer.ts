import { useCallback, useEffect, useRef, useState } from 'react'
import { call, type Failure, type Reply } from '../api/call.ts'
import { onChange } from '../api/live.ts'

export type Shown<T> =
  | { kind: 'loading' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'ready'; data: T; failure: Failure | undefined }

/**
 * Returns the answer of a find (an operation that only reads). If a later call fails, the old answer stays, with the
 * failure. `isLive`: asks again after each change of the data; false for slow finds.
 */
export function useAnswer<T>(
  name: string,
  input: object,
  { isLive = true } = {},
): { shown: Shown<T>; refresh: () => void } {
  const inputJson = JSON.stringify(input)
  const [answer, setAnswer] = useState<{ inputJson: string; shown: Shown<T> }>()
  const latestCallNumber = useRef(0)

  const ask = useCallback(
    async (isWatching: boolean) => {
      latestCallNumber.current += 1
      const callNumber = latestCallNumber.current
      const reply = await call<T>(`find/${name}`, JSON.parse(inputJson) as object, isWatching)
      if (callNumber !== latestCallNumber.current) return
      setAnswer((before) => {
        const old = before?.inputJson === inputJson ? before.shown : undefined
        if (reply.ok) return { inputJson, shown: { kind: 'ready', data: reply.data, failure: undefined } }
        const { failure } = reply
        return { inputJson, shown: old?.kind === 'ready' ? { ...old, failure } : { kind: 'failed', failure } }
      })
    },
    [name, inputJson],
  )
  useEffect(() => {
    void ask(false)
    return isLive ? onChange(() => void ask(true)) : undefined
  }, [ask, isLive])
  const shown: Shown<T> = answer?.inputJson === inputJson ? answer.shown : { kind: 'loading' }
  return { shown, refresh: () => void ask(false) }
}

export type Rows<ROW> = {
  shown: Shown<readonly ROW[]>
  hasMore: boolean
  isLoadingMore: boolean
  /** Why the last call for more rows failed. */
  moreFailure: Failure | undefined
  more: () => void
  refresh: () => void
}

type Page<ROW> = { rows: readonly ROW[]; next: string | null }

/** Returns the rows of a list, page by page. The first page follows changes of the data until another is requested. */
export function useRows<ANSWER extends { next: string | null }, ROW>(
  name: string,
  input: object,
  rowsOf: (answer: ANSWER) => readonly ROW[],
): Rows<ROW> {
  const firstAnswer = useAnswer<ANSWER>(name, input)
  const inputJson = JSON.stringify(input)
  /** A new object after each change of the filter and each refresh. A page requested for an older object is dropped. */
  const latestReading = useRef({ inputJson })
  if (latestReading.current.inputJson !== inputJson) latestReading.current = { inputJson }
  const reading = latestReading.current
  const [kept, setKept] = useState<{ reading: object; pages: Page<ROW>[] }>({ reading, pages: [] })
  const [isLoadingMore, setLoading] = useState(false)
  const [failed, setFailed] = useState<{ reading: object; failure: Failure }>()

  const pageOf = (answer: ANSWER): Page<ROW> => ({ rows: rowsOf(answer), next: answer.next })
  const keptPages = kept.reading === reading ? kept.pages : []
  const newPages = firstAnswer.shown.kind === 'ready' ? [pageOf(firstAnswer.shown.data)] : []
  const pages = keptPages.length > 0 ? keptPages : newPages
  const lastPage = pages.at(-1)
  const more = async (): Promise<void> => {
    if (lastPage?.next == null || isLoadingMore) return
    // New rows would push out the last row of the first page, where the page that is requested here continues.
    setKept({ reading, pages })
    setLoading(true)
    const reply = await call<ANSWER>(`find/${name}`, { ...input, before: lastPage.next })
    setLoading(false)
    if (reading !== latestReading.current) return
    setFailed(reply.ok ? undefined : { reading, failure: reply.failure })
    setKept({ reading, pages: reply.ok ? [...pages, pageOf(reply.data)] : keptPages })
  }
  const refresh = (): void => {
    latestReading.current = { inputJson }
    // Starts the new reading at once. A changed ref alone would cause no render.
    setKept({ reading: latestReading.current, pages: [] })
    firstAnswer.refresh()
  }
  const shown: Shown<readonly ROW[]> =
    firstAnswer.shown.kind === 'ready'
      ? { ...firstAnswer.shown, data: pages.flatMap(({ rows }) => rows) }
      : firstAnswer.shown
  const moreFailure = failed?.reading === reading ? failed.failure : undefined
  return {
    shown,
    hasMore: lastPage?.next != null,
    isLoadingMore,
    moreFailure,
    more: () => void more(),
    refresh,
  }
}

/** A longer list, of more than a hundred calls, is not saved as a file. */
const MOST_EXPORTED = 20_000
/** The most rows that the server returns in one call. */
const ROWS_PER_CALL = 200

/** Returns every row that a filter matches, for a file; a failure if there are too many or a call fails. */
export async function allRows<ANSWER extends { next: string | null }, ROW>(
  name: string,
  input: object,
  rowsOf: (answer: ANSWER) => readonly ROW[],
): Promise<readonly ROW[] | Failure> {
  const rows: ROW[] = []
  for (let before: string | null = null; ; ) {
    const reply: Reply<ANSWER> = await call<ANSWER>(`find/${name}`, {
      ...input,
      limit: ROWS_PER_CALL,
      ...(before !== null && { before }),
    })
    if (!reply.ok) return reply.failure
    rows.push(...rowsOf(reply.data))
    before = reply.data.next
    if (before === null) return rows
    if (rows.length >= MOST_EXPORTED)
      return {
        kind: 'usage',
        message: `More than ${MOST_EXPORTED} rows: narrow the filter, if the list has one.`,
      }
  }
}
