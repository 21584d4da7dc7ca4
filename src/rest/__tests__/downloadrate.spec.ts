import { DownloadRate } from '../downloadrate';

describe('Pace', () => {
  it('should say nothing before it has seen enough', () => {
    const pace = new DownloadRate();
    expect(pace.speed).toBeNull();
    expect(pace.remaining(100)).toBeNull();
    pace.see('a', 0, 0);
    pace.see('a', 500, 500);
    expect(pace.speed).toBeNull();
  });

  it('should tell the speed and what is left', () => {
    const pace = new DownloadRate();
    pace.see('a', 0, 0);
    pace.see('a', 2_000, 1_000);
    expect(pace.speed).toBe(2_000);
    expect(pace.remaining(10_000)).toBe(4_000);
  });

  it('should forget how fast it was long ago', () => {
    const pace = new DownloadRate();
    for (let second = 0; second <= 60; second++) {
      const done = second <= 30 ? second * 100 : 3_000 + (second - 30) * 10;
      pace.see('a', done, second * 1_000);
    }
    expect(pace.speed).toBe(10);
  });

  it('should begin anew with another source, and when it begins anew', () => {
    const pace = new DownloadRate();
    pace.see('hub', 0, 0);
    pace.see('hub', 9_000, 1_000);
    pace.see('packages', 9_000, 1_500);
    expect(pace.speed).toBeNull();
    pace.see('packages', 10_000, 2_500);
    expect(pace.speed).toBe(1_000);
    pace.see('packages', 0, 3_000);
    expect(pace.speed).toBeNull();
  });

  it('should not say how long nothing takes', () => {
    const pace = new DownloadRate();
    pace.see('a', 5, 0);
    pace.see('a', 5, 2_000);
    expect(pace.speed).toBe(0);
    expect(pace.remaining(10)).toBeNull();
  });
});
