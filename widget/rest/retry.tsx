import type { Flow } from '../flow/runner.ts'
import { useRestTexts } from '../parts/texts.ts'

type Props = { flow: Flow; className?: 'button primary' | 'link' }

export function Retry({ flow, className = 'button primary' }: Props) {
  const { texts } = useRestTexts()
  return (
    <button type="button" className={className} onClick={() => flow.dispatch({ kind: 'retryPressed' })}>
      {texts.retry}
    </button>
  )
}
