import type { Flow } from '../flow/runner.ts'
import { useRest } from '../parts/texts.ts'

type Props = { flow: Flow; look?: 'button primary' | 'link' }

/** A button that repeats the failed call. */
export function Retry({ flow, look = 'button primary' }: Props) {
  const { texts } = useRest()
  return (
    <button type="button" className={look} onClick={() => flow.dispatch({ kind: 'retryPressed' })}>
      {texts.retry}
    </button>
  )
}
