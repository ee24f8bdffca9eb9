import type { Flow } from '../flow/runner.ts'
import { useRestTexts } from '../parts/texts.ts'

type Props = { flow: Flow; look?: 'button primary' | 'link' }

export function Retry({ flow, look = 'button primary' }: Props) {
  const { texts } = useRestTexts()
  return (
    <button type="button" className={look} onClick={() => flow.dispatch({ kind: 'retryPressed' })}>
      {texts.retry}
    </button>
  )
}
