export { ModePicker } from './choices/modepicker';
export { ModelPicker as ProfilePicker } from './choices/modelpicker';
