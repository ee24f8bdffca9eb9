import { usePage } from '../page.tsx'

export function ReloadPage() {
  const { texts } = usePage()
  return (
    <button type="button" className="button primary" onClick={() => location.reload()}>
      {texts.reloadPage}
    </button>
  )
}
